package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
)

// mem0 is mem0's platform, or its server. The first has GET /v1/entities/ and POST /v3/memories/, which
// want a Token (mem0/client/main.py, docs/openapi.json of its repository).
func (f *fetcher) mem0(ctx context.Context) error {
	f.scheme = "Token"
	kinds := map[string]string{"user": "user_id", "agent": "agent_id", "app": "app_id", "run": "run_id"}
	type whose struct{ field, name string }
	var all []whose
	q := url.Values{}
	err := numbers(func(int) (bool, error) {
		var page struct {
			Results []struct{ Name, Type string }
			Next    string
		}
		if err := f.head(ctx, ask{path: "/v1/entities/", q: q}, &page); err != nil {
			return false, err
		}
		for _, e := range page.Results {
			if field := kinds[e.Type]; field != "" && len(f.Users) == 0 {
				all = append(all, whose{field, e.Name})
			}
		}
		q = queryOf(page.Next)
		return q != nil && len(f.Users) == 0, nil
	})
	if errors.Is(err, errMissing) {
		f.scheme = ""
		return f.mem0Server(ctx)
	}
	if err != nil {
		return err
	}
	for _, user := range f.Users {
		all = append(all, whose{"user_id", user})
	}
	for _, w := range all {
		if err := f.mem0Pages(ctx, w.field, w.name); err != nil {
			return err
		}
	}
	return nil
}

// mem0Pages lists on the platform the memories of a user, an agent, an app or a run.
func (f *fetcher) mem0Pages(ctx context.Context, field, name string) error {
	user := ""
	if field == "user_id" {
		user = name
	}
	return numbers(func(page int) (bool, error) {
		in, err := f.page(ctx, ask{
			path: "/v3/memories/", q: url.Values{"page": {strconv.Itoa(page)}, "page_size": {strconv.Itoa(pageItems)}},
			body: map[string]any{"filters": map[string]string{field: name}},
		}, user)
		if err != nil {
			return false, err
		}
		said, n, err := beside(in, mem0().layout)
		return n > 0 && said.text("next") != "", err
	})
}

// queryOf is what a link to the next page asks for; nil where there is none. Its address is not used:
// it is what a server behind a proxy believes to be its own.
func queryOf(link string) url.Values {
	u, err := url.Parse(link)
	if link == "" || err != nil {
		return nil
	}
	return u.Query()
}

// mem0Server is the REST server that everybody runs for themselves (server/main.py): GET /memories lists a
// user's, an agent's or a run's, and for an administrator's key everybody's; each time a thousand at most.
// GET /entities (server/routers/entities.py), which older ones have not, says whose there are.
func (f *fetcher) mem0Server(ctx context.Context) error {
	for _, user := range f.Users {
		if err := f.mem0Of(ctx, "user_id", user); err != nil {
			return err
		}
	}
	if len(f.Users) > 0 {
		return nil
	}
	n, err := f.mem0List(ctx, url.Values{}, "")
	if err == nil && n < mem0Items {
		return nil
	}
	var all []struct{ ID, Type string }
	if eerr := f.head(ctx, ask{path: "/entities"}, &all); eerr != nil {
		if err != nil {
			return fmt.Errorf("%w; name the users with --user, where this key may not list everybody's", err)
		}
		f.mem0More("")
		return nil
	}
	f.found.Inputs = nil // its thousand stand in the lists of whose they are
	for _, e := range all {
		if err := f.mem0Of(ctx, e.Type+"_id", e.ID); err != nil {
			return err
		}
	}
	return nil
}

// mem0Of lists the memories of a user, an agent or a run.
func (f *fetcher) mem0Of(ctx context.Context, field, id string) error {
	user := ""
	if field == "user_id" {
		user = id
	}
	n, err := f.mem0List(ctx, url.Values{field: {id}}, user)
	if err == nil && n >= mem0Items {
		f.mem0More(id)
	}
	return err
}

func (f *fetcher) mem0List(ctx context.Context, q url.Values, user string) (int, error) {
	q.Set("top_k", strconv.Itoa(mem0Items))
	in, err := f.page(ctx, ask{path: "/memories", q: q}, user)
	if err != nil {
		return 0, err
	}
	return count(in, mem0().layout)
}

func (f *fetcher) mem0More(of string) {
	f.found.Faults = append(f.found.Faults, Fault{
		Path: f.Base + "/memories", Part: of,
		Reason: fmt.Sprintf("lists no more than %d memories, and may have more: export them to a file", mem0Items),
	})
}

// zep lists, of version 4 of Zep's interface (zep_cloud 4.0.1), users and graphs, and of each graph its
// episodes, nodes and edges. A thread's messages are episodes of its user's graph.
func (f *fetcher) zep(ctx context.Context) error {
	f.scheme = "Api-Key"
	type graph struct {
		UUID      string
		GraphUUID string `json:"graph_uuid"`
		UserID    string `json:"user_id"`
		Name      string
	}
	list := func(path string, visit func(graph)) error {
		return cursors(func(q url.Values) (string, error) {
			var page struct {
				Items []graph
				Next  string `json:"next_cursor"`
			}
			err := f.head(ctx, ask{path: path, q: q, body: struct{}{}}, &page)
			for _, g := range page.Items {
				visit(g)
			}
			return page.Next, err
		})
	}
	var order []string
	users := map[string]string{} // by graph
	err := list("/users/list", func(g graph) {
		if users[g.GraphUUID] = g.UserID; g.GraphUUID != "" && (len(f.Users) == 0 || slices.Contains(f.Users, g.UserID)) {
			order = append(order, g.GraphUUID)
		}
	})
	f.unknown(slices.Collect(maps.Values(users)))
	if err == nil && len(f.Users) == 0 {
		err = list("/graphs/list", func(g graph) {
			if _, of := users[g.UUID]; !of && g.UUID != "" {
				order, users[g.UUID] = append(order, g.UUID), g.Name
			}
		})
	}
	if err != nil {
		return err
	}
	for _, uuid := range order {
		for _, what := range []string{"episodes", "nodes", "edges"} {
			path := "/graphs/" + url.PathEscape(uuid) + "/" + what + "/list"
			if err := f.zepPages(ctx, path, users[uuid]); err != nil {
				return err
			}
		}
	}
	return nil
}

// zepPages lists one kind of what a graph has.
func (f *fetcher) zepPages(ctx context.Context, path, user string) error {
	return cursors(func(q url.Values) (string, error) {
		in, err := f.page(ctx, ask{path: path, q: q, body: struct{}{}}, user)
		if err != nil {
			return "", err
		}
		said, _, err := beside(in, zep().layout)
		return said.text("next_cursor"), err
	})
}

// unknown reports whom the server does not know of those that were asked for.
func (f *fetcher) unknown(known []string) {
	for _, user := range f.Users {
		if !slices.Contains(known, user) {
			f.found.Faults = append(f.found.Faults, Fault{Path: f.Base, Part: user, Reason: "is not known there"})
		}
	}
}

// graphiti lists the episodes of groups (server/graph_service/routers/retrieve.py). Its server searches
// facts and does not list them, and does not say which groups it has.
func (f *fetcher) graphiti(ctx context.Context) error {
	if len(f.Users) == 0 {
		return errors.New("a server of Graphiti does not list its groups: name them with --user")
	}
	for _, group := range f.Users {
		_, err := f.page(ctx, ask{
			path: "/episodes/" + url.PathEscape(group), q: url.Values{"last_n": {strconv.Itoa(maxEpisodes)}},
		}, group)
		if err != nil {
			return err
		}
		f.found.Faults = append(f.found.Faults, Fault{
			Path: f.Base + "/episodes/" + group, Part: group,
			Reason: "has episodes only: facts and entities are read of a dump (docs/migration.md)",
		})
	}
	return nil
}

// supermemory lists container tags, and of each its documents and memories (packages/lib/api.ts and
// apps/mcp/src/server/client of its repository).
func (f *fetcher) supermemory(ctx context.Context) error {
	tags := f.Users
	if len(tags) == 0 {
		var all []struct{ ContainerTag string }
		if err := f.head(ctx, ask{path: "/v3/container-tags/list"}, &all); err != nil {
			return err
		}
		for _, t := range all {
			tags = append(tags, t.ContainerTag)
		}
	}
	for _, tag := range tags {
		for _, path := range []string{"/v3/documents/list", "/v4/memories/list"} {
			if err := f.supermemoryPages(ctx, path, tag); err != nil {
				return err
			}
		}
	}
	return nil
}

// supermemoryPages lists what has a container tag. The route for memories does not know includeContent.
func (f *fetcher) supermemoryPages(ctx context.Context, path, tag string) error {
	return numbers(func(page int) (bool, error) {
		body := map[string]any{
			"containerTags": []string{tag}, "page": page, "limit": pageItems, "sort": "createdAt", "order": "asc",
		}
		if path == "/v3/documents/list" {
			body["includeContent"] = true
		}
		in, err := f.page(ctx, ask{path: path, body: body}, tag)
		if err != nil {
			return false, err
		}
		said, n, err := beside(in, supermemory().layout)
		total, _ := strconv.Atoi(said.object("pagination").text("totalPages"))
		return n > 0 && page < total, err
	})
}

// cognee lists datasets, and of each its graph (cognee/api/v1/datasets/routers of its repository), which
// it answers whole.
func (f *fetcher) cognee(ctx context.Context) error {
	const root = "/api/v1/datasets"
	var all []struct{ ID, Name string }
	if err := f.head(ctx, ask{path: root}, &all); err != nil {
		return err
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Name, d.ID)
	}
	f.unknown(names)
	for _, d := range all {
		if len(f.Users) > 0 && !slices.Contains(f.Users, d.Name) && !slices.Contains(f.Users, d.ID) {
			continue
		}
		if _, err := f.page(ctx, ask{path: root + "/" + url.PathEscape(d.ID) + "/graph"}, ""); err != nil {
			return err
		}
	}
	return nil
}

// hindsight lists banks, and of each its memories and its documents (hindsight_client_api,
// banks_api.py, memory_api.py, documents_api.py).
func (f *fetcher) hindsight(ctx context.Context) error {
	const root = "/v1/default/banks"
	banks := f.Users
	if len(banks) == 0 {
		err := offsets(func(q url.Values) (int, error) {
			var all struct {
				Banks []struct {
					ID string `json:"bank_id"`
				} `json:"banks"`
			}
			if err := f.head(ctx, ask{path: root, q: q}, &all); err != nil {
				return 0, err
			}
			for _, b := range all.Banks {
				if slices.Contains(banks, b.ID) { // of a version without pages: all of them once more
					return 0, nil
				}
				banks = append(banks, b.ID)
			}
			return len(all.Banks), nil
		})
		if err != nil {
			return err
		}
	}
	for _, bank := range banks {
		if err := f.bank(ctx, root+"/"+url.PathEscape(bank), bank); err != nil {
			return err
		}
	}
	return nil
}

// bank asks for all of one bank of Hindsight.
func (f *fetcher) bank(ctx context.Context, at, bank string) error {
	err := offsets(func(q url.Values) (int, error) {
		in, err := f.page(ctx, ask{path: at + "/memories/list", q: q}, bank)
		if err != nil {
			return 0, err
		}
		return count(in, hindsight().layout)
	})
	if err != nil {
		return err
	}
	return offsets(func(q url.Values) (int, error) {
		var page struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
		}
		if err := f.head(ctx, ask{path: at + "/documents", q: q}, &page); err != nil {
			return 0, err
		}
		for _, d := range page.Items {
			if _, err := f.page(ctx, ask{path: at + "/documents/" + url.PathEscape(d.ID)}, bank); err != nil {
				return 0, err
			}
		}
		return len(page.Items), nil
	})
}

// letta lists agents, and of each its blocks, passages and messages (letta_client, resources/agents).
func (f *fetcher) letta(ctx context.Context) error {
	type agent struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	var all []agent
	named := map[string]int{}
	err := after(func(q url.Values) (int, string, error) {
		var agents []agent
		if err := f.head(ctx, ask{path: "/v1/agents/", q: q}, &agents); err != nil || len(agents) == 0 {
			return 0, "", err
		}
		for _, a := range agents {
			named[a.Name]++
		}
		all = append(all, agents...)
		return len(agents), agents[len(agents)-1].ID, nil
	})
	if err != nil {
		return err
	}
	for _, a := range all {
		at, user := "/v1/agents/"+url.PathEscape(a.ID), a.Name
		if named[a.Name] > 1 {
			user = nameAndID(a.Name, a.ID)
			f.found.Faults = append(f.found.Faults, Fault{Path: f.Base + at, Reason: shared(a.Name, user)})
		}
		if err := f.agent(ctx, at, user); err != nil {
			return err
		}
	}
	return nil
}

// agent asks for all of one agent of Letta.
func (f *fetcher) agent(ctx context.Context, at, user string) error {
	if _, err := f.page(ctx, ask{path: at + "/core-memory/blocks"}, user); err != nil {
		return err
	}
	for _, what := range []string{"/archival-memory", "/messages"} {
		err := after(func(q url.Values) (int, string, error) {
			in, err := f.page(ctx, ask{path: at + what, q: q}, user)
			if err != nil {
				return 0, "", err
			}
			return lastOf(in)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
