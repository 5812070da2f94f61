import type { GatewaySettings } from '../../crds/types.ts';
import type { SettingsSources } from './referables.ts';
import { namespaceOf, type CompileOptions } from './resources.ts';

interface Named {
  readonly name: string;
}

/**
 * Returns settings without the references to objects that are not there and are assumed. With Services, certificates
 * are assumed too, which other programs of the cluster make.
 */
export function withPresentReferences(
  settings: GatewaySettings,
  sources: SettingsSources,
  options: CompileOptions,
): GatewaySettings {
  const present = presence(settings, sources, options);
  const { identityProviders, signingKeyRefs = [], ...others } = settings.spec;
  const { defaultCertificateRef: certificate, ...rest } = others;
  const keys = signingKeyRefs.filter((ref) => present.secret(ref));
  const providers = identityProviders?.map(({ clientSecretRef: ref, caRef, ...provider }) => ({
    ...provider,
    ...(ref !== undefined && present.secret(ref) && { clientSecretRef: ref }),
    ...(caRef !== undefined && present.authorities(caRef) && { caRef }),
  }));
  const spec = {
    ...rest,
    ...(providers && { identityProviders: providers }),
    ...(keys.length > 0 && { signingKeyRefs: keys }),
    ...(certificate && present.certificate(certificate) && { defaultCertificateRef: certificate }),
  };
  return { ...settings, spec };
}

/** Whether certificates that are not there count as no problem. */
export function assumesCertificates({ services, secrets }: CompileOptions): boolean {
  return services === 'assumed' || secrets === 'assumed';
}

/** Whether references of each kind stay. */
function presence(
  settings: GatewaySettings,
  { secrets, configMaps }: SettingsSources,
  options: CompileOptions,
): Readonly<Record<'secret' | 'certificate' | 'authorities', (ref: Named) => boolean>> {
  const nameOf = ({ name }: Named): string => `${namespaceOf(settings)}/${name}`;
  const [areAssumed, areMade] = [options.secrets === 'assumed', assumesCertificates(options)];
  return {
    secret: (ref) => !areAssumed || secrets.has(nameOf(ref)),
    certificate: (ref) => !areMade || secrets.has(nameOf(ref)),
    authorities: (ref) => !areMade || configMaps.has(nameOf(ref)),
  };
}
