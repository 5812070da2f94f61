import type { OutgoingHttpHeaders } from 'node:http';

import type { GatewayResponse } from './gateway-response.ts';

/** Markup that is safe to put on a page. Only `html` makes it. */
export interface Html {
  readonly markup: string;
}

type Content = Html | string | number | undefined | readonly Html[];

/** Template for markup: every value is escaped unless it is markup itself. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  const markup = parts.reduce((text, part, index) => text + render(values[index - 1]) + part);
  return { markup };
}

function render(value: Content): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return escape(value);
  if (typeof value === 'number') return String(value);
  if ('markup' in value) return value.markup;
  return value.map(({ markup }) => markup).join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

export interface Page {
  readonly title: string;
  readonly content: Html;
  /** Where its forms may lead besides the page's own origin, as CSP sources. */
  readonly formTargets?: readonly string[];
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { font-size: 1.35rem; line-height: 1.3; }
code, kbd { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1rem; }
dt { opacity: 0.7; } dd { margin: 0; overflow-wrap: anywhere; }
.warning { border-left: 4px solid #d97706; padding: 0.4rem 0.9rem; }
form { display: inline-block; margin: 1rem 0.6rem 0 0; }
button, .button { font: inherit; padding: 0.5rem 1.2rem; border-radius: 0.4rem;
  border: 1px solid currentcolor; background: none; color: inherit; cursor: pointer;
  text-decoration: none; }
button.primary { background: #2563eb; border-color: #2563eb; color: #fff; }
footer { margin-top: 2.5rem; font-size: 0.85rem; opacity: 0.7; }
`;

/** A page for people: no script, no frame around it, nothing of it kept or sent on as referrer. */
export function page(
  status: number,
  { title, content, formTargets = [] }: Page,
  headers: OutgoingHttpHeaders = {},
): GatewayResponse {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${{ markup: STYLE }}
        </style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
  const formAction = ["'self'", ...formTargets].join(' ');
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...headers,
    },
    body: document.markup,
  };
}
