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

/** Why there is no browser here; undefined when there is one. */
export const noBrowserReason = existsSync(EXECUTABLE)
  ? undefined
  : `no Chromium at ${EXECUTABLE}; set CHROMIUM to run the browser tests`;

/** A headless Chromium. Close it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: QUIET });
}

/** Keeps what a person would see, under artifacts/screenshots. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
}
