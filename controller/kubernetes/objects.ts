/** The metadata of every object of the API server, as far as the controller reads them. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  /** RFC 3339 in whole seconds and UTC. */
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An object as the API server sends it. Only its metadata are parsed. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [member: string]: unknown;
}

/** The name of an object, and its namespace if it has one. */
export type ObjectName = Pick<ObjectMeta, 'name' | 'namespace'>;

/** core/v1 Service, as far as routes need it. */
export interface Service {
  readonly metadata: ObjectName;
  readonly spec?: {
    readonly type?: string;
    readonly externalName?: string;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly protocol?: string;
    }[];
  };
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
    };
  };
}

/** discovery.k8s.io/v1 EndpointSlice. The label `kubernetes.io/service-name` names its Service. */
export interface EndpointSlice {
  readonly metadata: ObjectName & Pick<ObjectMeta, 'labels'>;
  readonly addressType?: string;
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[];
        /** An absent member means unknown, which counts as ready. */
        readonly conditions?: { readonly ready?: boolean };
      }[]
    | null;
  readonly ports?:
    | readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[]
    | null;
}

/** gateway.networking.k8s.io/v1beta1 ReferenceGrant: allows references into its namespace. */
export interface ReferenceGrant {
  readonly metadata: ObjectName;
  readonly spec?: {
    readonly from?: readonly {
      readonly group: string;
      readonly kind: string;
      readonly namespace: string;
    }[];
    readonly to?: readonly {
      readonly group: string;
      readonly kind: string;
      readonly name?: string;
    }[];
  };
}

/** The name in the metadata of an object. */
export function objectName({ name, namespace }: ObjectMeta): ObjectName {
  return { name, ...(namespace !== undefined && { namespace }) };
}
