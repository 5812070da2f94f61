import { expect, test } from '@jest/globals';

import { ProviderDiscovery } from '../../../../proxy/identity-provider/provider-discovery.ts';
import { providerFailure } from '../../../../proxy/identity-provider/provider-failure.ts';
import { describeError } from '../../../../shared/telemetry/describe-error.ts';
import { AN_IDENTITY_PROVIDER } from '../../../support/compiled-resources.ts';
import { startUpstream } from '../../../support/upstream.ts';

/** Returns how the log and the trace describe the sign-in at a provider that calls itself so. */
async function failureOf(issuerInMetadata: unknown): Promise<{ text: string; issuer: string }> {
  await using server = await startUpstream((_message, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ issuer: issuerInMetadata }));
  });
  const issuer = `${server.origin}/tenant`;
  const discovery = new ProviderDiscovery({ devAllowLoopback: true, now: Date.now });
  const provider = { ...AN_IDENTITY_PROVIDER, issuer, clientId: 'gateway' };
  const error: unknown = await discovery.clientOf(provider).catch((thrown: unknown) => thrown);
  return { text: describeError(providerFailure(error, '/')), issuer };
}

test('a wrong issuer is named with the one that was expected', async () => {
  const { text, issuer } = await failureOf('https://user:pw@id.example/other?code=secret#x');
  expect(text).toContain(`expected the issuer ${issuer}, and found https://id.example/other`);
  expect(text).not.toMatch(/secret|pw@|#x/);
});

test.each([7, 'not a URL'])('metadata with the issuer %j fail discovery', async (found) => {
  const { text } = await failureOf(found);
  expect(text).toContain('the identity provider could not be used');
});
