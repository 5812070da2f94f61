import type { CompiledSigningKeys } from '../../../shared/snapshot/snapshot.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { json } from '../../http/responses.ts';
import { jwksDocument } from './signing-keys.ts';

/** How long upstreams may cache the keys. A key must be published at least that long before it signs. */
const MAX_AGE_SECONDS = 300;

const CACHED = { 'cache-control': `public, max-age=${String(MAX_AGE_SECONDS)}` };

/** Options of the endpoint of the public keys. */
export interface JwksOptions {
  /** Published if the settings name no keys. */
  readonly defaultSigningKeys: CompiledSigningKeys;
}

/** `GET /.gateway/jwks.json`: the public keys that verify identity assertions. */
export function createJwksEndpoint({ defaultSigningKeys }: JwksOptions): Endpoint {
  return {
    methods: ['GET'],
    audience: 'text',
    crossOrigin: true,
    handle: ({ configuration }) => {
      const document = jwksDocument(configuration.signingKeys ?? defaultSigningKeys);
      return Promise.resolve(json(200, document, CACHED));
    },
  };
}
