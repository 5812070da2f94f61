import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import {
  startIdentityProvider,
  type IdentityProviderOptions,
  type TestIdentityProvider,
} from './identity-provider.ts';

export type RouteSpec = Route['spec'];
type SettingsSpec = NonNullable<GatewaySettings['spec']>;

/** A whole gateway, and an identity provider with the users alice, bob and carol. */
export interface GatewayWithUsers extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly identityProvider: TestIdentityProvider;
  /** Origin of a name under `localhost` on the gateway's port. */
  originOf(name: string): string;
  /** Serves these routes, by their names, from now on, with these Secrets beside the provider's. */
  configure(
    routes: Readonly<Record<string, RouteSpec>>,
    settings?: Settings,
    secrets?: readonly TestSecret[],
  ): Promise<void>;
  /** The manifests that are served now. */
  manifests(): string;
  /** Starts another gateway with the options, the keys and the present configuration of this one. */
  startPeer(stores?: Stores): Promise<TestGateway>;
}

export interface Settings extends SettingsSpec {
  /** Name of the GatewaySettings. */
  readonly name?: string;
}

/** A value that routes refer to by the name and the key of a Secret. */
interface TestSecret {
  readonly name: string;
  readonly key: string;
  readonly value: string;
}

const API_VERSION = 'gatehouse.dev/v1alpha1';
const SECRET = { name: 'identity-provider', key: 'client-secret' };

/** Starts both, without routes. */
export async function startGatewayWithUsers(
  overrides: Parameters<typeof startGateway>[0] = {},
  providerOptions: IdentityProviderOptions = {},
): Promise<GatewayWithUsers> {
  const gateway = await startGateway(overrides);
  const identityProvider = await startIdentityProvider(providerOptions);
  let served = '';
  return {
    gateway,
    identityProvider,
    originOf: (name) => `http://${name}.localhost:${String(gateway.port)}`,
    async configure(routes, settings = {}, secrets = []) {
      const { authenticateUrl } = settings;
      const origins = Object.values(routes).map(({ from }) => from);
      for (const origin of authenticateUrl === undefined ? origins : [authenticateUrl]) {
        identityProvider.redirectUris.add(`${origin}/.gateway/callback`);
      }
      const users = manifestsWithUsers(routes, settings, identityProvider);
      served = [users, ...secrets.map((each) => document(secretOf(each)))].join(SEPARATOR);
      await gateway.apply(served);
    },
    manifests: () => served,
    async startPeer(stores = gateway.stores) {
      const { sealingKeys } = gateway;
      const peer = await startGateway({ ...overrides, sealingKeys, stores });
      await peer.apply(served);
      return peer;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await identityProvider[Symbol.asyncDispose]();
    },
  };
}

/** Manifests of these routes, settings and users. JSON is YAML. */
export function manifestsWithUsers(
  routes: Readonly<Record<string, RouteSpec>>,
  { name = 'gatehouse', ...settings }: Settings,
  { issuer, clientId, clientSecret }: TestIdentityProvider,
): string {
  const identityProvider = {
    ...{ name: 'test', issuerUrl: issuer, clientId, clientSecretRef: SECRET },
    scopes: ['openid', 'email', 'profile', 'groups'],
  };
  const documents = [
    ...Object.entries(routes).map(([route, spec]) => resource('Route', route, spec)),
    resource('GatewaySettings', name, { identityProviders: [identityProvider], ...settings }),
    secretOf({ ...SECRET, value: clientSecret }),
  ];
  return documents.map(document).join(SEPARATOR);
}

const SEPARATOR = '\n---\n';

function document(manifest: object): string {
  return JSON.stringify(manifest);
}

function secretOf({ name, key, value }: TestSecret): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: { 'gatehouse.dev/referable': 'true' } },
    stringData: { [key]: value },
  };
}

function resource(kind: string, name: string, spec: unknown): object {
  return { apiVersion: API_VERSION, kind, metadata: { name }, spec };
}
