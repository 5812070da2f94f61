import { foldAsciiCase } from '../operands/fold-ascii-case.ts';
import { matcherCriterion } from '../operands/matcher-criterion.ts';
import { emailDomain } from './email-domain.ts';

/** The domain of the user's e-mail address. */
export const domain = matcherCriterion(
  {
    name: 'domain',
    reasons: { whenTrue: 'domain-ok', whenFalse: 'domain-unauthorized' },
    ofUser: true,
    row: {
      looksAt: 'what follows the last `@` of the e-mail address',
      compares: 'a text, without regard to case',
    },
  },
  {
    read: ({ identity }) => {
      if (identity === undefined) return null;
      return identity.email === undefined ? undefined : emailDomain(identity.email);
    },
    fold: foldAsciiCase,
    rules: { problemOf },
  },
);

/** Rejects a value that never matches: in a `deny` it would let through what it names. */
function problemOf(value: string): string | undefined {
  if (value.includes('*')) return 'must not have a wildcard; use ends_with: .example.com';
  return value.includes('@') ? 'must be the part of an e-mail address after "@"' : undefined;
}
