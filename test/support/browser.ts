import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { chromium, type Browser, type Page } from 'playwright-core';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const ARTIFACTS = join(import.meta.dirname, '../../artifacts/screenshots');
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The reason why no browser can run here; undefined if one can. */
export const noBrowserReason = existsSync(EXECUTABLE)
  ? undefined
  : `no Chromium at ${EXECUTABLE}; set CHROMIUM to run the browser tests`;

/** Starts a headless Chromium, which the caller closes. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: QUIET });
}

/** Saves a screenshot of the page under artifacts/screenshots. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
}
