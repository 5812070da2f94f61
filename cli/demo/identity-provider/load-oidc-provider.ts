import type * as OidcProvider from 'oidc-provider';

/**
 * Loads `oidc-provider` without what it has to say of Node releases that are not long-term support:
 * a newcomer's first sight of the demo should not be a warning about nothing.
 */
export async function loadOidcProvider(): Promise<typeof OidcProvider> {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
}
