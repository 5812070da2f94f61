/** The line of a Route that needs no sign-in. */
export const PUBLIC_LINE = 'allowPublicUnauthenticatedAccess: true';

/** Manifest of a public Route on `http://localhost:PORT`. */
export function publicRoute(name: string, port: number, to: string): string {
  return `
apiVersion: gatehouse.dev/v1alpha1
kind: Route
metadata: { name: ${name} }
spec:
  from: http://localhost:${String(port)}
  to: ${to}
  ${PUBLIC_LINE}
`;
}
