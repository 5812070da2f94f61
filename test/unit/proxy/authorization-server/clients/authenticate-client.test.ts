import { describe, expect, test } from '@jest/globals';

import { hashToken } from '../../../../../proxy/crypto/tokens.ts';
import {
  AuthorizationPageError,
  ClientIdDomainNotAllowedError,
} from '../../../../../proxy/errors/authorization-page-errors.ts';
import { authenticateClient } from '../../../../../proxy/authorization-server/clients/authenticate-client.ts';
import type { Client } from '../../../../../proxy/records/client.ts';
import { MetadataDocumentError } from '../../../../../proxy/authorization-server/clients/metadata-document-error.ts';
import { createMemoryStores } from '../../../../../proxy/store/memory/memory-stores.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { verifies } from '../../../../requirements/verifies.ts';
import {
  ISSUER,
  TOKEN_ENDPOINT,
  ASSERTION_TYPE,
  NOW,
  PUBLIC,
  BASIC,
  POST,
  basic,
  type Attempt,
  setUp,
} from '../../../../support/client-authentication-fixture.ts';

describe('a client is authenticated', () => {
  const PROVEN: readonly (readonly [string, Attempt, Client])[] = [
    ['by its id alone, when it is public', { form: { client_id: 'public' } }, PUBLIC],
    ['by Basic', { authorization: basic('basic', 's3cret') }, BASIC],
    ['by a posted secret', { form: { client_id: 'post', client_secret: 's3cret' } }, POST],
    [
      'by a posted secret in place of Basic',
      { form: { client_id: 'basic', client_secret: 's3cret' } },
      BASIC,
    ],
    ['by Basic in place of a posted secret', { authorization: basic('post', 's3cret') }, POST],
    ['by form-urlencoded Basic', { authorization: basic('b%61sic', '%733cret') }, BASIC],
    [
      'by Basic with the same id in the form',
      { authorization: basic('basic', 's3cret'), form: { client_id: 'basic' } },
      BASIC,
    ],
    // RFC 6749, section 3.2: a parameter without a value counts as absent.
    [
      'although it sends an empty secret',
      { form: { client_id: 'public', client_secret: '' } },
      PUBLIC,
    ],
  ];

  for (const [title, attempt, expected] of PROVEN) {
    verifies('as.client-authentication', title, async () => {
      expect(await setUp().attempt(attempt)).toEqual(expected);
    });
  }
});

describe('a client is refused', () => {
  const UNPROVEN: readonly (readonly [string, Attempt])[] = [
    ['without a name', {}],
    ['when it is unknown', { form: { client_id: 'unknown' } }],
    ['when it is unknown, by Basic', { authorization: basic('unknown', 's3cret') }],
    ['with a wrong secret, by Basic', { authorization: basic('basic', 'wrong') }],
    ['with a wrong posted secret', { form: { client_id: 'post', client_secret: 'wrong' } }],
    ['with an empty secret, by Basic', { authorization: basic('basic', '') }],
    ['with the hash of its secret', { authorization: basic('basic', hashToken('s3cret')) }],
    ['without its secret', { form: { client_id: 'basic' } }],
    ['without its secret, when that is posted', { form: { client_id: 'post' } }],
    ['without its key', { form: { client_id: 'signer' } }],
    ['with a secret, when it is public', { authorization: basic('public', 's3cret') }],
    ['with an empty secret by Basic, when it is public', { authorization: basic('public', '') }],
    ['with its secret, when it is public', { authorization: basic('turned', 's3cret') }],
    ['with a secret, when it has a key', { authorization: basic('signer', 's3cret') }],
    ['with any secret, when none was issued', { authorization: basic('secretless', 'undefined') }],
    ['with a secret but no name', { form: { client_secret: 's3cret' } }],
    ['with a bearer token', { authorization: 'Bearer abc', form: { client_id: 'public' } }],
    [
      'with malformed Basic credentials',
      { authorization: 'Basic !', form: { client_id: 'public' } },
    ],
    ['with an assertion without a type', { form: { client_assertion: 'a.b.c' } }],
    [
      'with an assertion of another type',
      {
        form: {
          client_assertion: 'a.b.c',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer',
        },
      },
    ],
    ['with a type but no assertion', { form: { client_assertion_type: ASSERTION_TYPE } }],
    [
      'with an assertion that is not a JWT',
      { form: { client_assertion: 'nonsense', client_assertion_type: ASSERTION_TYPE } },
    ],
  ];

  for (const [title, attempt] of UNPROVEN) {
    verifies('as.client-authentication', title, async () => {
      await expect(setUp().attempt(attempt)).rejects.toMatchObject({
        name: 'InvalidClientError',
        code: 'invalid_client',
        status: 401,
      });
    });
  }

  const AMBIGUOUS: readonly (readonly [string, Attempt])[] = [
    [
      'with Basic and a posted secret',
      {
        authorization: basic('basic', 's3cret'),
        form: { client_id: 'basic', client_secret: 's3cret' },
      },
    ],
    [
      'with Basic for one client and the id of another',
      { authorization: basic('basic', 's3cret'), form: { client_id: 'public' } },
    ],
    ['with a repeated client_id', { form: 'client_id=public&client_id=basic' }],
    [
      'with a repeated client_secret',
      { form: 'client_id=post&client_secret=a&client_secret=s3cret' },
    ],
  ];

  for (const [title, attempt] of AMBIGUOUS) {
    verifies('as.client-authentication', `as a malformed request ${title}`, async () => {
      await expect(setUp().attempt(attempt)).rejects.toMatchObject({
        name: 'InvalidRequestError',
        code: 'invalid_request',
      });
    });
  }
});

describe('a client named by a URL', () => {
  const clientId = 'https://client.example/metadata.json';

  test.each<[string, Error, string, number]>([
    [
      'is unknown when its domain is not allowed',
      new ClientIdDomainNotAllowedError(clientId),
      'invalid_client',
      401,
    ],
    [
      'is unknown when its document is not valid',
      new MetadataDocumentError('invalid', 'no'),
      'invalid_client',
      401,
    ],
    [
      'is unknown when the page says so',
      new AuthorizationPageError('reason', 'no'),
      'invalid_client',
      401,
    ],
    [
      'gets 503 when the server of its document is down',
      new MetadataDocumentError('unavailable', 'no'),
      'temporarily_unavailable',
      503,
    ],
  ])('%s', async (_title, cause, code, status) => {
    const { replays, rateLimits } = createMemoryStores();
    const attempt = authenticateClient(
      {
        issuer: ISSUER,
        tokenEndpointUrl: TOKEN_ENDPOINT,
        authorization: undefined,
        form: new URLSearchParams({ client_id: clientId }),
        settings: compiledSettings(),
        beforeVerifying: () => Promise.resolve(),
      },
      {
        findClient: () => Promise.reject(cause),
        readClientKeys: () => Promise.reject(new Error('not expected')),
        replays,
        rateLimits,
        now: () => NOW,
      },
    );
    await expect(attempt).rejects.toMatchObject({ code, status, cause });
  });
});
