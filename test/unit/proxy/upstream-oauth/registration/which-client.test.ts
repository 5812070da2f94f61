import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import {
  DOCUMENT,
  startUpstreamSite,
  type UpstreamSite,
} from '../../../../support/upstream-oauth/upstream-site.ts';

const SERVER = 'login.example/.well-known/oauth-authorization-server';
const ENDPOINT = 'login.example/register';

let site: UpstreamSite;

beforeEach(async () => {
  site = await startUpstreamSite();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

function server(changes: object): void {
  site.pages.set(SERVER, site.serverMetadata(changes));
}

function registrationsMade(): number {
  return site.requests.filter((request) => request === `POST ${ENDPOINT}`).length;
}

describe('given credentials', () => {
  test.each([
    ['as the settings say: in the header', 'header', ['client_secret_post'], 'client_secret_basic'],
    ['as the settings say: in the form', 'params', ['client_secret_basic'], 'client_secret_post'],
    ['as the metadata list', undefined, ['client_secret_post'], 'client_secret_post'],
    [
      'in the header if the metadata list both',
      undefined,
      ['client_secret_post', 'client_secret_basic'],
      'client_secret_basic',
    ],
    ['in the header if the metadata list nothing', undefined, undefined, 'client_secret_basic'],
  ] as const)('are sent %s', async (_title, authStyle, listed, authMethod) => {
    site.oauth = {
      ...site.oauth,
      client: { id: 'given', secret: 's' },
      ...(authStyle && { authStyle }),
    };
    server({ token_endpoint_auth_methods_supported: listed });
    expect((await site.discover()).client).toEqual({
      id: 'given',
      secret: 's',
      authMethod,
      source: 'given',
    });
    expect(registrationsMade()).toBe(0);
  });

  test('without a secret are of a public client, and nothing is registered', async () => {
    site.oauth = { ...site.oauth, client: { id: 'given' }, authStyle: 'header' };
    server({ client_id_metadata_document_supported: true });
    expect((await site.discover()).client).toEqual({
      id: 'given',
      authMethod: 'none',
      source: 'given',
    });
    expect(registrationsMade()).toBe(0);
  });
});

describe('the metadata document', () => {
  const client = { id: DOCUMENT, authMethod: 'none', source: 'metadata-document' };

  test('is the client where the server takes it', async () => {
    server({ client_id_metadata_document_supported: true });
    const { issuer, client: found } = await site.discover();
    expect(found).toEqual(client);
    expect(registrationsMade()).toBe(0);
    expect(await site.forIssuer({ issuer, clientId: DOCUMENT })).toMatchObject({ client });
  });

  test('is not the client where the server wants secrets, and registers clients', async () => {
    const methods = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
    server({ client_id_metadata_document_supported: true, ...methods });
    expect(await site.discover()).toMatchObject({ client: { source: 'registered' } });
  });

  test('is the client of a server that wants secrets but registers nobody', async () => {
    const methods = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
    server({
      client_id_metadata_document_supported: true,
      ...methods,
      registration_endpoint: undefined,
    });
    expect((await site.discover()).client).toEqual(client);
  });
});
