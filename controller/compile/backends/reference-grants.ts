import type { ReferenceGrant } from '../../kubernetes/objects.ts';
import { setInGroup } from '../grouped-map.ts';

type Grant = NonNullable<ReferenceGrant['spec']>;

/** The target of a reference to another namespace. */
export interface ForeignTarget {
  readonly kind: 'Service' | 'Secret';
  readonly namespace: string;
  readonly name: string;
}

/** The ReferenceGrants of a cluster: which namespaces may refer to Services and Secrets of others. */
export class ReferenceGrants {
  /** By namespace and key. */
  readonly #grants = new Map<string, Map<string, Grant>>();

  /** Undefined removes a grant. Returns the namespace of the grant. */
  set(key: string, grant: ReferenceGrant | undefined): string {
    const [namespace = ''] = key.split('/');
    setInGroup(this.#grants, namespace, [key, grant && (grant.spec ?? {})]);
    return namespace;
  }

  /** Whether routes of a namespace may refer to an object of another namespace. */
  permits(from: string, target: ForeignTarget): boolean {
    const grants = [...(this.#grants.get(target.namespace)?.values() ?? [])];
    return grants.some((grant) => includesRoutes(grant, from) && includesTarget(grant, target));
  }
}

function includesRoutes({ from = [] }: Grant, namespace: string): boolean {
  return from.some(
    (one) => one.group === 'gatehouse.dev' && one.kind === 'Route' && one.namespace === namespace,
  );
}

/** A grant without a name is for all objects of its kind in its namespace. */
function includesTarget({ to = [] }: Grant, { kind, name }: ForeignTarget): boolean {
  return to.some(
    (one) => one.group === '' && one.kind === kind && (one.name === undefined || one.name === name),
  );
}
