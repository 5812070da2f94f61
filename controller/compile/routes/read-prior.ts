import type { UnvalidatedRoute } from '../compilation.ts';
import { isOfClass } from '../read-stored.ts';

/** What another process made of a route, as its status tells. */
export interface Prior {
  /** What serves while a newer generation is not accepted. */
  readonly served?: { readonly number: number; readonly spec: unknown };
  /** The host that it serves. */
  readonly host?: string;
}

/**
 * Reads what the status of a route tells. It gives a route nothing that its spec could not: what it
 * says is validated and competes with other routes like any other spec.
 */
export function readPrior(
  { metadata, status }: UnvalidatedRoute,
  gatewayClassName: string | undefined,
): Prior {
  const { served, url = '' } = status ?? {};
  const isUsable =
    served !== undefined &&
    served.generation < (metadata.generation ?? 0) &&
    isOfClass(served.spec, gatewayClassName);
  const host = URL.parse(url)?.hostname;
  return {
    ...(isUsable && { served: { number: served.generation, spec: served.spec } }),
    ...(host !== undefined && { host }),
  };
}
