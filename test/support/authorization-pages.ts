import { expect } from '@jest/globals';

import { ISSUER, WEB_CALLBACK, type Reply, type TestServer } from './authorization-server.ts';
import { authorizationUrl } from './client-flow.ts';
import { READING_MS } from './patient-user.ts';

/** The URL that the consent form is posted to. */
export const CONSENT_URL = `${ISSUER}/.gateway/mcp/consent`;
/** Client ID of a client with a metadata document. */
export const DOCUMENT_URL = 'https://app.clients.example/client.json';

/** In milliseconds. */
export const MINUTE = 60_000;

/** Parameters that replace those of a valid request; `undefined` leaves one out. */
export type Changes = Readonly<Record<string, string | undefined>>;

/** The metadata document of that client. */
export function aDocument(
  members: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    client_id: DOCUMENT_URL,
    client_name: 'Documented client',
    redirect_uris: [WEB_CALLBACK],
    token_endpoint_auth_method: 'none',
    ...members,
  };
}

/**
 * Sends an authorization request and follows it to the consent page with a signed-in browser, whose user
 * reads it.
 */
export async function consentPage(
  server: TestServer,
  clientId: string,
  changes: Changes = {},
  signedIn?: string,
): Promise<Reply> {
  const cookie = signedIn ?? (await server.signIn());
  const { headers } = await server.send(authorizationUrl(clientId, changes));
  const page = await server.send(headers.location ?? '', { headers: { cookie } });
  server.clock.now += READING_MS;
  return page;
}

/** Expects a page that only a click of the user leads away from. */
export function expectPage({ status, headers }: Reply, expected: number): void {
  expect({ status, location: headers.location, type: headers['content-type'] }).toEqual({
    status: expected,
    location: undefined,
    type: 'text/html; charset=utf-8',
  });
}

export async function errorOf(server: TestServer, url: string): Promise<Record<string, string>> {
  const { headers } = await server.send(url);
  return Object.fromEntries(new URL(headers.location ?? '').searchParams);
}
