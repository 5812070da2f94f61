/** The label of Secrets that settings may refer to; its value is `true`. */
export const REFERABLE_LABEL = 'gatehouse.dev/referable';

/** The type of Secrets with a certificate and its key. */
const TLS_TYPE = 'kubernetes.io/tls';

/** The decoded values of a Secret by key, or that it lacks the label, so that they are not kept. */
export type ReferableValues = ReadonlyMap<string, Buffer> | 'unlabelled';

/**
 * What is kept of a Secret. One for TLS needs no label to be used as a certificate: its key is sent to nobody.
 */
export type SecretValues = ReferableValues | TlsSecret;

/** A Secret of type `kubernetes.io/tls`. */
export interface TlsSecret {
  readonly type: 'tls';
  /** PEM. Empty if it is missing. */
  readonly certificate: Buffer;
  /** PEM. Empty if it is missing. */
  readonly privateKey: Buffer;
  /** What fields that are not about certificates may use. */
  readonly values: ReferableValues;
}

/** A core/v1 Secret. */
export interface Secret {
  readonly kind: 'Secret';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly values: SecretValues;
}

/** The parts of a Secret that decide what is kept of it. */
export interface SecretContent {
  readonly type: unknown;
  readonly labels: Readonly<Record<string, unknown>> | undefined;
  readonly values: ReadonlyMap<string, Buffer>;
}

/** Returns what is kept of a Secret. */
export function keptValues({ type, labels, values }: SecretContent): SecretValues {
  const referable = labels?.[REFERABLE_LABEL] === 'true' ? values : 'unlabelled';
  if (type !== TLS_TYPE) return referable;
  const certificate = values.get('tls.crt') ?? Buffer.alloc(0);
  const privateKey = values.get('tls.key') ?? Buffer.alloc(0);
  return { type: 'tls', certificate, privateKey, values: referable };
}

/** Returns the part of a Secret that fields may use which are not about certificates. */
export function referableValues(kept: SecretValues): ReferableValues {
  return isTlsSecret(kept) ? kept.values : kept;
}

/** Whether a Secret is of type `kubernetes.io/tls`. */
export function isTlsSecret(kept: SecretValues): kept is TlsSecret {
  return typeof kept === 'object' && 'type' in kept;
}
