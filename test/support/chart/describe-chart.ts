import { describeUnless } from '../describe-unless.ts';
import { noHelmReason } from './helm.ts';

/** Describes what the chart renders. Skipped, with a printed reason, where helm cannot run, except in CI. */
export const describeChart = describeUnless(noHelmReason);
