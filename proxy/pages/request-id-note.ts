import { html, type Html } from '../http/html.ts';

/** The end of a page that says why something did not work: what an administrator finds the request by. */
export function requestIdNote(requestId: string): Html {
  return html`<footer>Request ID: <code>${requestId}</code></footer>`;
}
