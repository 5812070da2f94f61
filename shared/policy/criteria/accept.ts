import { flagCriterion } from '../operands/flag-criterion.ts';

/** Always true. */
export const accept = flagCriterion(
  {
    name: 'accept',
    reasons: { whenTrue: 'accept', whenFalse: 'accept' },
    ofUser: true,
    row: { looksAt: 'nothing; always true', compares: '' },
  },
  () => true,
);
