/** The label of Secrets that settings may refer to; its value is `true`. */
export const REFERABLE_LABEL = 'gatehouse.dev/referable';

/** The decoded values of a Secret by key, or that it lacks the label, so that they are not kept. */
export type SecretValues = ReadonlyMap<string, Buffer> | 'unlabelled';

/** A core/v1 Secret. */
export interface Secret {
  readonly kind: 'Secret';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly values: SecretValues;
}

/** Whether settings may refer to a Secret with these labels. */
export function isReferable(labels: Readonly<Record<string, unknown>> | undefined): boolean {
  return labels?.[REFERABLE_LABEL] === 'true';
}
