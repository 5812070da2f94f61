import { flagCriterion } from '../operands/flag-criterion.ts';

/** Always false. */
export const reject = flagCriterion(
  {
    name: 'reject',
    reasons: { whenTrue: 'reject', whenFalse: 'reject' },
    ofUser: true,
    row: { looksAt: 'nothing; always false', compares: '' },
  },
  () => false,
);
