import { setTimeout } from 'node:timers/promises';

import { TextBrowser, type VisitedPage } from './text-browser.ts';
import type { Button } from './html-forms.ts';

const MAX_PAGES = 5;

/** The gateway takes no approval within a second of its page for one. */
const READING_MS = 1100;

/**
 * Signs in as `account` and approves the client, like a person with a browser.
 *
 * Resolves once the browser has arrived at `redirectUrl`.
 */
export async function signInWithoutBrowser(
  start: URL,
  account: string,
  onPage: (title: string) => void,
): Promise<void> {
  const redirectUrl = start.searchParams.get('redirect_uri');
  if (redirectUrl === null) throw new Error('the sign-in URL has no redirect_uri');
  const browser = new TextBrowser();
  let page = await browser.open(start);
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    if (page.url.href.startsWith(redirectUrl)) return;
    onPage(page.title);
    const button = chooseButton(page, account);
    if (button.fields.has('decision')) await setTimeout(READING_MS);
    page = await browser.press(page, button);
  }
  throw new Error(`the sign-in does not end after ${String(MAX_PAGES)} pages`);
}

/** Returns the button of the account on the sign-in page, or the approving button of another page. */
function chooseButton({ title, buttons }: VisitedPage, account: string): Button {
  const accounts = buttons.filter(({ fields }) => fields.has('account'));
  const chosen =
    accounts.length > 0
      ? accounts.find(({ fields }) => fields.get('account') === account)
      : buttons.find(({ isPrimary }) => isPrimary);
  if (chosen === undefined) throw new Error(`nothing to press for "${account}" on "${title}"`);
  return chosen;
}
