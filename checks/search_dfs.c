#include "checks/search_parts.h"
void search_dfs(Crew *c, const SearchOptions *o, SearchResult *r) {
  (void)c;
  (void)o;
  (void)r;
}
void search_walks(Crew *c, const SearchOptions *o, SearchResult *r) {
  (void)c;
  (void)o;
  (void)r;
}
