import type { Route } from '../../../crds/types.ts';
import { memberPath } from '../../validate/field-path.ts';

/** One of the `backendRefs` of a route, with its defaults. */
export interface BackendRef {
  /** Its place in the Route. */
  readonly path: string;
  /** Whether it refers to a core Service. */
  readonly isService: boolean;
  /** `namespace/name` of the Service. */
  readonly service: string;
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly weight: number;
}

const PATH = 'spec.backendRefs';

/** Reads the `backendRefs` of a route. */
export function readBackendRefs(
  { backendRefs = [] }: Route['spec'],
  ownNamespace: string,
): readonly BackendRef[] {
  return backendRefs.map((ref, index) => {
    const { group = '', kind = 'Service', namespace = ownNamespace, name, port, weight = 1 } = ref;
    return {
      path: memberPath(PATH, index),
      isService: group === '' && kind === 'Service',
      service: `${namespace}/${name}`,
      namespace,
      name,
      port,
      weight,
    };
  });
}
