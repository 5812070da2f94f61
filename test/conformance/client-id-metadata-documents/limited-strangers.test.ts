import { expect, test } from '@jest/globals';

import { createMetadataDocumentReader } from '../../../proxy/authorization-server/clients/metadata-document.ts';
import { TooManyRequestsError } from '../../../proxy/errors/denial-errors.ts';
import { aDocument, DOCUMENT_URL } from '../../support/authorization-pages.ts';

const settings = { allowedClientIdDomains: ['*.clients.example'], outboundAllowedCidrs: [] };

function startReader() {
  return createMetadataDocumentReader({
    devAllowLoopback: false,
    guardedFetch: () =>
      Promise.resolve({
        status: 200,
        headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
        body: Buffer.from(JSON.stringify(aDocument())),
      }),
  });
}

// Attack: a stranger who has used up the fetches of a network asks for the client of others in a loop.
test('a network with too many fetches keeps no other from reading the same document', async () => {
  const read = startReader();
  const refusal = new TooManyRequestsError(1);
  const refused = read(DOCUMENT_URL, settings, () => Promise.reject(refusal));
  const permitted = read(DOCUMENT_URL, settings, () => Promise.resolve());
  await expect(refused).rejects.toBe(refusal);
  expect((await permitted).id).toBe(DOCUMENT_URL);
});
