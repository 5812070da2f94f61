/** Port in the `from` of the route that all measured gateways serve, whatever they listen on. */
export const ROUTE_PORT = 8443;
