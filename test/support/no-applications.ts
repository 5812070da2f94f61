import type { ExternalTokenAuthenticatorOptions } from '../../proxy/authentication/external-token-authenticator.ts';

/** For an authenticator that gets no tokens of applications. */
export const NO_APPLICATIONS: ExternalTokenAuthenticatorOptions['applications'] = {
  open: () => undefined,
  callerOf: () => {
    throw new Error('no token is one of an application');
  },
};
