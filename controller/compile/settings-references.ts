import type { GatewaySettings } from '../../crds/types.ts';
import { namespaceOf } from './resources.ts';

/** Returns `namespace/name` of the Secrets that settings refer to. */
export function secretsOf(settings: GatewaySettings): readonly string[] {
  const { identityProviders = [], signingKeyRefs = [], tracing = {} } = settings.spec;
  const { defaultCertificateRef } = settings.spec;
  const exportHeaders = tracing.tracesHeaders ?? tracing.headers ?? [];
  const refs = [
    ...identityProviders.flatMap(({ clientSecretRef }) => clientSecretRef ?? []),
    ...signingKeyRefs,
    ...exportHeaders.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
    ...(defaultCertificateRef === undefined ? [] : [defaultCertificateRef]),
  ];
  return refs.map(({ name }) => `${namespaceOf(settings)}/${name}`);
}

/** Returns `namespace/name` of the ConfigMaps that settings refer to. */
export function configMapsOf(settings: GatewaySettings): readonly string[] {
  const refs = (settings.spec.identityProviders ?? []).flatMap(({ caRef }) => caRef ?? []);
  return refs.map(({ name }) => `${namespaceOf(settings)}/${name}`);
}
