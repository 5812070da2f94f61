import { expect } from '@jest/globals';

import { deriveAssertionKeys } from '../../proxy/crypto/assertion-keys.ts';
import { jwksDocument } from '../../proxy/identity/assertion/signing-keys.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { openForAll } from '../support/open-for-all.ts';
import { startSignInWorld } from '../support/sign-in-world.ts';
import { verifies } from '../requirements/verifies.ts';

const world = openForAll(startSignInWorld);

verifies(
  'assertion.verifiable',
  'the keys of the identity assertion are published at every host, for pages of any origin',
  async () => {
    const [one, authenticate] = [world().originOf('one'), world().originOf('authenticate')];
    await world().serve({ routes: [one], authenticateUrl: authenticate });
    const signingKeys = deriveAssertionKeys(world().gateway.sealingKeys);

    for (const origin of [one, authenticate]) {
      const { status, headers, body } = await new BrowserJar().open(`${origin}/.gateway/jwks.json`);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json');
      expect(headers['cache-control']).toBe('public, max-age=300');
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(JSON.parse(body)).toEqual(jwksDocument(signingKeys));
    }
  },
);
