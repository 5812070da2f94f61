import type { RenderedContainer, RenderedPod } from './pods.ts';

/** Returns what the restricted Pod Security Standard refuses of a pod, and what is not mounted read-only. */
export function securityFaults({ owner, spec }: RenderedPod): readonly string[] {
  const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext ?? {};
  const ofPod = [
    runAsNonRoot === true ? [] : ['runAsNonRoot'],
    runAsUser === 0 ? ['runAsUser'] : [],
    isDefault(seccompProfile) ? [] : ['seccompProfile'],
    spec.hostNetwork === true ? ['hostNetwork'] : [],
    spec.volumes?.some(({ hostPath }) => hostPath !== undefined) === true ? ['hostPath'] : [],
  ].flat();
  const ofContainers = [...spec.containers, ...(spec.initContainers ?? [])].flatMap((container) =>
    faultsOf(container).map((fault) => `${container.name}: ${fault}`),
  );
  return [...ofPod, ...ofContainers].map((fault) => `${owner} ${fault}`);
}

function faultsOf({ securityContext = {} }: RenderedContainer): readonly string[] {
  const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = securityContext;
  const drops = (capabilities as { readonly drop?: readonly string[] } | undefined)?.drop ?? [];
  return [
    allowPrivilegeEscalation === false ? [] : ['allowPrivilegeEscalation'],
    readOnlyRootFilesystem === true ? [] : ['readOnlyRootFilesystem'],
    drops.includes('ALL') ? [] : ['capabilities'],
  ].flat();
}

function isDefault(profile: unknown): boolean {
  return (profile as { readonly type?: string } | undefined)?.type === 'RuntimeDefault';
}
