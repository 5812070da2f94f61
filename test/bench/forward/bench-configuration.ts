import type { Snapshot } from '../../../shared/snapshot/snapshot.ts';
import { DEFAULT_AUTHORIZE_LOG_FIELDS } from '../../../shared/snapshot/log-fields.ts';
import type { Route } from '../../../crds/types.ts';
import { aCompiledCertificate, aSnapshot } from '../../support/compiled-resources.ts';
import { compileOnce } from '../../support/compile-once.ts';
import { aRoute, aSettings } from '../../support/resources.ts';
import { IDENTITY, TOOL_POLICY, USER_POLICY } from './access.ts';
import type { Workload } from './workload.ts';

const NAMESPACE = 'bench';
/** GatewaySettings of measured gateways. */
const SETTINGS = 'gateway';

/** Identifies measured gateways in their tokens. */
export const GATEWAY_ID = `${NAMESPACE}/${SETTINGS}`;

/** Tokens of the workload `jwt` are for it. */
export const AUDIENCE = 'gatehouse';

/** What a measured gateway serves. */
export interface BenchConfiguration {
  readonly workload: Workload;
  /** Number of routes. One of them is measured; the others are like it, each with a host of its own. */
  readonly routes: number;
  /** Port in `from` of the routes. */
  readonly port: number;
  /** Origin of the server behind all routes. */
  readonly upstream: string;
  /** Where the keys of the identity provider are, for the workload `jwt`. */
  readonly jwksUrl?: string;
  /** Whether clients connect with TLS. */
  readonly isTls: boolean;
}

/** Compiles the configuration of a measured gateway. */
export function compileBenchConfiguration(configuration: BenchConfiguration): Snapshot {
  const { jwksUrl } = configuration;
  const settings = aSettings(
    {
      identityProviders: [
        {
          ...{ name: IDENTITY.provider, issuerUrl: IDENTITY.issuer, clientId: 'gatehouse' },
          ...(jwksUrl !== undefined && { audiences: [AUDIENCE], jwksUrl }),
        },
      ],
      authorizeLogFields: [...DEFAULT_AUTHORIZE_LOG_FIELDS, 'mcp-method', 'mcp-tool'],
    },
    { name: SETTINGS, namespace: NAMESPACE },
  );
  const routes = Array.from({ length: configuration.routes }, (_, index) =>
    aRoute(specOf(configuration, index), { name: `app-${String(index)}`, namespace: NAMESPACE }),
  );
  const { snapshot, problems } = compileOnce({ routes, settings }, { devAllowLoopback: true });
  if (problems.length === 0) return configuration.isTls ? withCertificate(snapshot) : snapshot;
  throw new Error(`a route of this benchmark is not valid: ${JSON.stringify(problems[0])}`);
}

/** Adds a certificate for the measured route, as the default one. */
function withCertificate(snapshot: Snapshot): Snapshot {
  const certificate = aCompiledCertificate(`${NAMESPACE}/tls`, ['localhost']);
  const values = [...snapshot.resources.values()].map(({ value }) =>
    value.kind === 'settings' ? { ...value, defaultCertificate: certificate.name } : value,
  );
  return aSnapshot(...values, certificate);
}

function specOf(
  { workload, routes, port, upstream: to, isTls }: BenchConfiguration,
  index: number,
): Route['spec'] {
  // The route in the middle is measured.
  const isMeasured = index === Math.floor(routes / 2);
  const host = isMeasured ? 'localhost' : `app-${String(index)}.localhost`;
  const from = `${isTls ? 'https' : 'http'}://${host}:${String(port)}`;
  const mcp = { from, to, mcp: { server: { path: '/mcp' } }, policy: TOOL_POLICY };
  switch (workload) {
    case 'mcp':
      return mcp;
    case 'jwt':
      return { ...mcp, bearerTokenFormat: 'jwt' };
    case 'web':
      return { from, to, policy: USER_POLICY };
    case 'public':
      return { from, to, allowPublicUnauthenticatedAccess: true };
  }
}
