import { describe } from '@jest/globals';

import { noBrowserReason } from './browser.ts';

/** `describe` for tests in a browser. Without one they are skipped. */
export const describeWithBrowser: typeof describe | typeof describe.skip =
  noBrowserReason === undefined ? describe : describe.skip;

if (noBrowserReason !== undefined) console.warn(`skipped: ${noBrowserReason}`);
