import { foldAsciiCase } from '../operands/fold-ascii-case.ts';
import { matcherCriterion } from '../operands/matcher-criterion.ts';

/** The user's e-mail address. */
export const email = matcherCriterion(
  {
    name: 'email',
    reasons: { whenTrue: 'email-ok', whenFalse: 'email-unauthorized' },
    ofUser: true,
    row: {
      looksAt: 'the e-mail address, if it [counts as verified](sign-in.md#e-mail-addresses)',
      compares: 'a text, without regard to case',
    },
  },
  {
    read: ({ identity }) => (identity === undefined ? null : identity.email),
    fold: foldAsciiCase,
  },
);
