import type { GatewaySettings } from '../../crds/types.ts';
import { namespaceOf, type Secrets } from './resources.ts';

/** Returns settings without their references to Secrets that are not there. */
export function withPresentSecrets(settings: GatewaySettings, secrets: Secrets): GatewaySettings {
  const { identityProviders, signingKeyRefs = [], ...others } = settings.spec;
  const isPresent = ({ name }: { readonly name: string }): boolean =>
    secrets.has(`${namespaceOf(settings)}/${name}`);
  const keys = signingKeyRefs.filter(isPresent);
  const providers = identityProviders?.map(({ clientSecretRef: ref, ...provider }) => ({
    ...provider,
    ...(ref !== undefined && isPresent(ref) && { clientSecretRef: ref }),
  }));
  const spec = {
    ...others,
    ...(providers && { identityProviders: providers }),
    ...(keys.length > 0 && { signingKeyRefs: keys }),
  };
  return { ...settings, spec };
}
