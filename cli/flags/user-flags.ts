import type { Identity } from '../../proxy/records/session.ts';
import type { Arguments, CommandLine } from '../arguments.ts';

/** Flags that choose users. */
export const USER_FLAGS: CommandLine['flags'] = {
  email: { kind: 'text', value: 'ADDRESS', description: 'Users with this email address.' },
  user: { kind: 'text', value: 'SUB', description: 'Users with this `sub`, as in the audit log.' },
  provider: {
    kind: 'text',
    value: 'NAME',
    description: 'Users of the identity provider of this name.',
  },
};

/** Users that all of its members fit; without members, all users. */
export interface UserChoice {
  readonly email?: string;
  readonly subject?: string;
  readonly provider?: string;
}

/** Reads `USER_FLAGS`. */
export function readUserFlags(flags: Arguments): UserChoice {
  const [email, subject, provider] = ['email', 'user', 'provider'].map((flag) => flags.text(flag));
  return {
    ...(email !== undefined && { email }),
    ...(subject !== undefined && { subject }),
    ...(provider !== undefined && { provider }),
  };
}

/** Whether the flags name a person, or several with one address, and not everybody. */
export function namesPerson({ email, subject }: UserChoice): boolean {
  return (email ?? subject) !== undefined;
}

/** Whether a user fits. Addresses are compared as people write them: without regard to case. */
export function isChosen(
  identity: Pick<Identity, 'email' | 'subject' | 'provider'>,
  { email, subject, provider }: UserChoice,
): boolean {
  const address = identity.email?.toLowerCase();
  if (email !== undefined && address !== email.toLowerCase()) return false;
  if (subject !== undefined && identity.subject !== subject) return false;
  return provider === undefined || identity.provider === provider;
}
