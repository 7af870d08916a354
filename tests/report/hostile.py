"""Texts that have broken pages before."""

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "attribute-double": '" onmouseover="alert(1)" x="',
    "attribute-single": "' onmouseover='alert(1)' x='",
    "image": "'\"><img src=x onerror=alert(1)>",
    "style-end": "</style><script>alert(1)</script>",
    "title-end": "</title><base href=//evil.example>",
    "close-everything": "</div></details></section></main></body></html>",
    "mark-end": "</mark><mark id='step-1'>",
    "javascript-link": "javascript:alert(1)",
    "data-link": "data:text/html,<script>alert(1)</script>",
    "path": "../../../etc/passwd?x#y",
    "template": "{{ 7 * 7 }}{% raw %}{# x",
    "comment": "<!-- <![CDATA[ ]]> -->",
    "entity": "&lt;script&gt;&#60;b&#62;&amp;",
    "bidi": "\u202egnp.exe\u2066\u2069",
    "nul": "a\x00b",
    "ansi": "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\x1b[2J",
    "surrogate": "\ud83d alone \udc00",
    "noncharacter": "\ufffe\uffff",
    "newlines": "\n\n<plaintext>\r\n",
}
