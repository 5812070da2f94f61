import type { Loaded } from '../../../controller/files/load-configuration.ts';
import { certificatesState } from '../../../controller/status/certificates-state.ts';
import { displayName } from '../../../controller/validate/resource-id.ts';
import type { Resource } from '../../../controller/validate/validate-resource.ts';

/** Returns notes about certificates that were not checked, and about those that have expired or will soon. */
export function notesOnCertificates(loaded: Loaded, now: Date): readonly string[] {
  return [...notesOnMissing(loaded), ...notesOnExpiry(loaded, now)];
}

/** Programs such as cert-manager make certificates, and ConfigMaps with authorities. */
function notesOnMissing({ candidates: { resources } }: Loaded): readonly string[] {
  const names = new Set(resources.flatMap(({ id }) => (id === undefined ? [] : displayName(id))));
  const referred = resources.flatMap(({ resource, id }) =>
    id === undefined ? [] : referencesOf(resource, id.namespace),
  );
  return [...new Set(referred.filter((name) => !names.has(name)))].map(
    (name) => `note: ${name} not checked: it is not in the files`,
  );
}

function referencesOf(resource: Resource | undefined, own: string): readonly string[] {
  if (resource?.kind === 'Route') {
    const refs = resource.spec.tls?.certificateRefs ?? [];
    return refs.map(({ namespace = own, name }) =>
      displayName({ kind: 'Secret', namespace, name }),
    );
  }
  if (resource?.kind !== 'GatewaySettings') return [];
  const { defaultCertificateRef: certificate, identityProviders = [] } = resource.spec;
  const authorities = identityProviders.flatMap(({ caRef }) => caRef ?? []);
  const refs = [
    ...(certificate === undefined ? [] : [{ kind: 'Secret', name: certificate.name }]),
    ...authorities.map(({ name }) => ({ kind: 'ConfigMap', name })),
  ];
  return refs.map((ref) => displayName({ ...ref, namespace: own }));
}

function notesOnExpiry({ served }: Loaded, now: Date): readonly string[] {
  const state = certificatesState(served?.certificates, now);
  return state?.status === 'False' ? [`note: ${state.message}`] : [];
}
