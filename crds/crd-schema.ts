/** The kinds of group `gatehouse.dev`, which the files in this folder define. */
export type ResourceKind = 'Route' | 'GatewaySettings';

/** The `apiVersion` of both kinds. */
export const API_VERSION = 'gatehouse.dev/v1alpha1';

/** The part of a Kubernetes structural schema that our definitions use. */
export interface CrdSchema {
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, CrdSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: CrdSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: CrdSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly default?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

/** A rule in the Common Expression Language. `self` is the value that it checks. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
}
