import { sealConsentForm } from '../../proxy/authorization-server/consent-seal.ts';
import type { BrowserJar, BrowserPage } from './browser-jar.ts';

/** How long the user reads a consent page before they approve, in milliseconds. */
export const READING_MS = 1000;

/**
 * Returns the fields of a consent page that was shown a second earlier, so that the tests do not wait. Only
 * the user's own browser can make them; for any other page there are none.
 */
export function fieldsOfPatientUser(
  { url, forms }: BrowserPage,
  browser: BrowserJar,
): Readonly<Record<string, string>> {
  const { request = '', seal } = forms[0]?.fields ?? {};
  if (seal === undefined) return {};
  const { hostname } = new URL(url);
  const shownAt = Number.parseInt(seal, 10);
  // The session of one identity provider made the page.
  const cookie = browser.cookies.find(
    ({ host, value }) => host === hostname && sealConsentForm(value, request, shownAt) === seal,
  );
  return { seal: sealConsentForm(cookie?.value ?? '', request, shownAt - READING_MS) };
}
