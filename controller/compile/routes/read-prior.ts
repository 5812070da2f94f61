import type { StoredRoute } from '../../kubernetes/stored-resources.ts';
import { isOfClass } from '../is-of-class.ts';
import { readServed, type RecordedGeneration } from '../read-stored.ts';

/** The state of a route that another process recorded in its status. */
export interface Prior {
  /** The generation that serves while newer ones are rejected. */
  readonly served?: RecordedGeneration;
  /** The host that it serves. */
  readonly host?: string;
}

/** The host of a `status.url`. Accepts any stored value. */
export function hostOfUrl(url: unknown): string | undefined {
  return typeof url === 'string' ? URL.parse(url)?.hostname : undefined;
}

/**
 * Reads the status of a route. A status gives a route nothing that its spec could not: the recorded
 * spec is validated, and competes with other routes like any other.
 *
 * Attack: a host that a route has at another gateway gives it no right to the host here.
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
