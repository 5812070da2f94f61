import { noBrowserReason } from './browser.ts';
import { describeUnless } from './describe-unless.ts';

/** `describe` for tests in a browser. Without one they are skipped, except in CI. */
export const describeWithBrowser = describeUnless(noBrowserReason);
