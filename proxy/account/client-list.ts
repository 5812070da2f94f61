import { html, type Html } from '../http/html.ts';
import type { SignedInBrowser } from '../identity/sign-in/signed-in-browser.ts';
import { shortened } from '../pages/shortened.ts';
import { accountForm } from './account-form.ts';
import type { ApprovedClient } from './approved-clients.ts';

/** Lists what a user approved, each with a button that revokes it. */
export function clientList(clients: readonly ApprovedClient[], browser: SignedInBrowser): Html {
  if (clients.length === 0) return html`<p>None.</p>`;
  return html`<p>Each is named in its own words, which nobody checks.</p>
    <ul class="items">
      ${clients.map((client) => clientItem(client, browser))}
    </ul>`;
}

function clientItem(client: ApprovedClient, browser: SignedInBrowser): Html {
  const { id, name, resources, usedAt } = client;
  return html`<li>
    <strong>${shortened(name ?? id)}</strong>
    <dl>
      <dt>Published by</dt>
      <dd>${URL.canParse(id) ? new URL(id).host : 'unknown: it registered itself'}</dd>
      <dt>May use</dt>
      <dd>${resources.map((resource) => html`<code>${resource}</code><br />`)}</dd>
      <dt>Last used</dt>
      <dd>${usedAt === undefined ? 'unknown' : timeOf(usedAt)}</dd>
    </dl>
    ${accountForm(browser, 'Revoke', { action: 'revoke', client: id })}
  </li>`;
}

/** To the minute, for example `2026-11-22 23:59 UTC`. */
function timeOf(milliseconds: number): Html {
  const iso = new Date(milliseconds).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
