import { formatPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Service } from '../kubernetes/objects.ts';
import type { SettingsStatus } from '../kubernetes/stored-resources.ts';
import type { ProxyReport, Publication } from '../push/publication.ts';
import { wholeSeconds } from './condition.ts';

/** The part of the status of GatewaySettings that is about the gateway, not about the settings. */
export type GatewayReport = Pick<
  SettingsStatus,
  'addresses' | 'attachedRoutes' | 'proxies' | 'snapshot'
>;

const MAX_ADDRESSES = 16;

/** Reports the addresses of the gateway, its proxies, and the newest snapshot. */
export function reportGateway({
  service,
  publication,
  attachedRoutes,
}: {
  /** The Service in front of the proxies; undefined if it is not known. */
  readonly service: Service | undefined;
  readonly publication: Pick<Publication, 'proxies' | 'position' | 'version' | 'publishedAt'>;
  readonly attachedRoutes: number;
}): GatewayReport {
  const addresses = addressesOf(service);
  const { position, version, publishedAt, proxies } = publication;
  return {
    ...(addresses.length > 0 && { addresses }),
    attachedRoutes,
    proxies: countProxies(proxies),
    ...(publishedAt !== undefined && {
      snapshot: {
        revision: formatPosition(position),
        hash: version,
        time: wholeSeconds(new Date(publishedAt)),
      },
    }),
  };
}

/** The addresses of the load balancer of a Service; empty if it has none. */
function addressesOf(service: Service | undefined): NonNullable<GatewayReport['addresses']> {
  const ingress = service?.status?.loadBalancer?.ingress ?? [];
  return ingress
    .flatMap(({ ip, hostname }) => [
      ...(ip === undefined ? [] : [{ type: 'IPAddress', value: ip } as const]),
      ...(hostname === undefined ? [] : [{ type: 'Hostname', value: hostname } as const]),
    ])
    .slice(0, MAX_ADDRESSES);
}

function countProxies(proxies: readonly ProxyReport[]): NonNullable<GatewayReport['proxies']> {
  const connected = proxies.filter(({ isConnected }) => isConnected);
  const count = (holds: (proxy: ProxyReport) => boolean) => connected.filter(holds).length;
  return {
    connected: connected.length,
    ready: count(({ isReady, isDraining }) => isReady && !isDraining),
    synced: count(({ isSynced }) => isSynced),
    rejected: count(({ rejected }) => rejected.length > 0),
  };
}
