import type * as OidcProvider from 'oidc-provider';

/**
 * Loads `oidc-provider` without its warning about Node releases without long-term support, which does
 * not matter for a demo.
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
