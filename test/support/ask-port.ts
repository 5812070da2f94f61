/** Body of the response of a port; its status if it is not good, `refused` if nothing listens. */
export async function askPort(port: number): Promise<string> {
  try {
    const response = await fetch(`http://localhost:${String(port)}/`);
    const body = await response.text();
    return response.ok ? body : `status ${String(response.status)}`;
  } catch {
    return 'refused';
  }
}
