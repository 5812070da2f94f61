import type { Route } from '../../crds/types.ts';
import type { RouteVerdict } from '../compile/compilation.ts';
import type { Decision } from './verdict-claims.ts';

type ServedSpec = NonNullable<NonNullable<Route['status']>['served']>;

/**
 * The older generation that serves while the newest is not accepted, so that another leader can go
 * on with it; undefined when there is none.
 */
export function servedSpec({ generation, isAccepted, served }: Decision): ServedSpec | undefined {
  if (isAccepted || served === undefined || served.generation === generation) return undefined;
  // It was accepted, so that it is an object; and it goes back as it came.
  return { generation: served.generation, spec: served.spec as ServedSpec['spec'] };
}

/** The same of a Route that waits for settings that let it serve; until then nothing of it does. */
export function keptSpec({ kept }: RouteVerdict): ServedSpec | undefined {
  if (kept?.served === undefined) return undefined;
  const { generation, spec } = kept.served;
  return { generation, spec: spec as ServedSpec['spec'] };
}
