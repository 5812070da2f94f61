import type { Changes } from '../compile/compilation.ts';
import type { SecretValues } from '../validate/secret.ts';
import type { ClusterIssuerReading } from '../kubernetes/cluster-issuer.ts';
import type { EndpointSlice, ReferenceGrant, Service } from '../kubernetes/objects.ts';
import type { StoredRoute, StoredSettings } from '../kubernetes/stored-resources.ts';

/** Changes to be delivered together, with the newest state of each resource. */
export class ChangeBatch implements Changes {
  readonly routes = new Map<string, StoredRoute | undefined>();
  readonly secrets = new Map<string, SecretValues | undefined>();
  readonly configMaps = new Map<string, ReadonlyMap<string, string> | undefined>();
  readonly services = new Map<string, Service | undefined>();
  readonly endpointSlices = new Map<string, EndpointSlice | undefined>();
  readonly referenceGrants = new Map<string, ReferenceGrant | undefined>();
  readonly namespaces = new Map<string, Readonly<Record<string, string>> | undefined>();
  /** Only declared, so that it is absent unless the settings changed. */
  declare settings?: StoredSettings | null;
  /** Only declared, so that it is absent unless it was read. */
  declare clusterIssuer?: ClusterIssuerReading;
}
