import type { StoredRoute } from '../../kubernetes/stored-resources.ts';
import { isOfClass, readServed, type ServedSpec } from '../read-stored.ts';

/** What another process made of a route, as its status tells. */
export interface Prior {
  /** What serves while a newer generation is not accepted. */
  readonly served?: ServedSpec;
  /** The host that it serves. */
  readonly host?: string;
}

/** The host of a `status.url`, whatever is stored there. */
export function hostOfUrl(url: unknown): string | undefined {
  return typeof url === 'string' ? URL.parse(url)?.hostname : undefined;
}

/**
 * Reads what the status of a route tells. It gives a route nothing that its spec could not: what it
 * says is validated and competes with other routes like any other spec.
 *
 * Attack: a host that a route has at another gateway is no claim to it here.
 */
export function readPrior(
  { metadata, status }: StoredRoute,
  gatewayClassName: string | undefined,
): Prior {
  if (gatewayClassName !== undefined && status?.gatewayClassName !== gatewayClassName) return {};
  const served = readServed(status, metadata.generation);
  const host = hostOfUrl(status?.url);
  return {
    ...(served && isOfClass(served.spec, gatewayClassName) && { served }),
    ...(host !== undefined && { host }),
  };
}
