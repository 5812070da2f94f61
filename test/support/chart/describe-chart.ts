import { describe } from '@jest/globals';

import { noHelmReason } from './helm.ts';

if (noHelmReason !== undefined) console.warn(`not checked: ${noHelmReason}`);

/** Describes what the chart renders. Skipped, with a printed reason, where helm cannot run. */
export const describeChart = noHelmReason === undefined ? describe : describe.skip;
