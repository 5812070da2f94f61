import type { OutgoingHttpHeaders } from 'node:http';

import type { GatewayResponse } from '../http/gateway-response.ts';
import { html, type Html } from '../http/html.ts';

/** The title and content of a page. */
export interface Page {
  readonly title: string;
  readonly content: Html;
  /** Absent on pages without a form. */
  readonly form?: {
    /** Origins to which its forms may lead besides the page's own, as CSP sources. */
    readonly targets?: readonly string[];
  };
}

/**
 * The main button is inert for a second after the mouse has reached the page. Attack: the page waits behind
 * another window, which closes between the two clicks of a double click.
 */
const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { font-size: 1.35rem; line-height: 1.3; }
code, kbd { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 0.5rem; }
.items { list-style: none; padding: 0; } .items > li { margin: 0.8rem 0; padding: 0.8rem 1rem;
  border: 1px solid #8888; border-radius: 0.4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1rem; }
dt { opacity: 0.7; } dd { margin: 0; overflow-wrap: anywhere; }
pre { font: 0.85em/1.5 ui-monospace, monospace; padding: 0.8rem 1rem; border-radius: 0.4rem;
  border: 1px solid #8888; white-space: pre-wrap; overflow-wrap: anywhere; }
.copy { user-select: all; }
.warning { border-left: 4px solid #d97706; padding: 0.4rem 0.9rem; }
form { display: inline-block; margin: 1rem 0.6rem 0 0; }
button, .button { font: inherit; padding: 0.5rem 1.2rem; border-radius: 0.4rem;
  border: 1px solid currentcolor; background: none; color: inherit; cursor: pointer;
  text-decoration: none; }
button.primary { background: #2563eb; border-color: #2563eb; color: #fff; }
@media (hover: hover) { html:hover button.primary { animation: inert 1s; } }
@keyframes inert { from, to { pointer-events: none; opacity: 0.5; } }
footer { margin-top: 2.5rem; font-size: 0.85rem; opacity: 0.7; }
`;

/**
 * Makes a page for people, in the layout that all pages of the gateway share.
 *
 * It runs no script, cannot be framed, is not cached, and leaks no referrer.
 */
export function page(
  status: number,
  { title, content, form }: Page,
  headers: OutgoingHttpHeaders = {},
): GatewayResponse {
  const formAction = ["'self'", ...(form?.targets ?? [])].join(' ');
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // With `no-referrer` browsers post forms with `Origin: null`, which cannot be checked.
      'referrer-policy': form === undefined ? 'no-referrer' : 'same-origin',
      ...headers,
    },
    body: layOut(title, content).markup,
  };
}

function layOut(title: string, content: Html): Html {
  return html`<!doctype html>
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
}
