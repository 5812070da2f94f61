/**
 * How much of a Service a proxy is told. Without a limit, one Service could make a resource that no
 * proxy accepts. All controllers leave out the same: endpoints are sorted.
 */
export const MAX_ENDPOINTS_PER_PORT = 2_000;
export const MAX_ENDPOINTS_PER_SERVICE = 16_000;
/** Names are longer than addresses. */
const MAX_CHARACTERS_PER_SERVICE = 1_000_000;

/** Takes the endpoints of one port of a Service after another, as far as there is room. */
export class EndpointBudget {
  #endpoints = MAX_ENDPOINTS_PER_SERVICE;
  #characters = MAX_CHARACTERS_PER_SERVICE;

  take(endpoints: readonly string[]): readonly string[] {
    const taken: string[] = [];
    for (const endpoint of endpoints.slice(0, MAX_ENDPOINTS_PER_PORT)) {
      if (this.#endpoints < 1 || this.#characters < endpoint.length) break;
      this.#endpoints -= 1;
      this.#characters -= endpoint.length;
      taken.push(endpoint);
    }
    return taken;
  }
}
