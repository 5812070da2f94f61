import type { BrowserJar, BrowserPage, NavigationOptions } from './browser-jar.ts';
import { fieldsOfPatientUser } from './patient-user.ts';

/** Two sign-ins, a consent page and one more. */
const MAX_FORMS = 4;

interface Walk extends NavigationOptions {
  /** Returns the login name for a sign-in page; empty to cancel. */
  readonly loginAt: (page: BrowserPage) => string;
}

/**
 * Takes a browser through everything that a user is asked, as far as it goes: signs in wherever a provider
 * asks for that, and approves clients. Returns the last page.
 */
export async function walkThroughForms(
  browser: BrowserJar,
  url: string,
  { loginAt, ...options }: Walk,
): Promise<BrowserPage> {
  let page = await browser.open(url, options);
  for (let forms = 0; page.forms.length > 0 && page.status === 200; forms += 1) {
    if (forms === MAX_FORMS) throw new Error(`asked for too much, at ${page.url}: ${page.body}`);
    const asked = page.forms[0]?.fields ?? {};
    if ('login' in asked) page = await browser.submit(page, { login: loginAt(page) }, options);
    else if ('seal' in asked) {
      const fields = { ...fieldsOfPatientUser(page, browser), decision: 'approve' };
      page = await browser.submit(page, fields, options);
    } else return page;
  }
  return page;
}
